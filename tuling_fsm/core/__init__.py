"""Plain values that every other room shares: geometry, vehicle, trajectory, planning request and result.

Units are SI and angles radians; frames follow REP-103/105. Unless said otherwise a pose is that of the rear axle in
`map`.
"""
