"""The clauses of the behaviour contract.

`PROVEN` are those that the code claims: each needs a test that names it. `OPEN` are those that it does not claim yet;
a clause moves up with its first test.
"""

PROVEN: tuple[str, ...] = ()
OPEN: tuple[str, ...] = ("DWELL-1", "DWELL-2", "DWELL-3", "DWELL-4", "DWELL-5", "DEP-1", "DEP-2", "REG-1", "REG-2", "REG-3", "REG-4", "NOR-1", "NOR-2", "NOR-3", "NOR-4", "NOR-5", "NOR-6", "NOR-7", "NOR-8", "NOR-9", "NOR-10", "SLF-1", "SLF-2", "SLF-3", "NLF-1", "NLF-2", "NLF-3", "NLF-4", "RPL-1", "RPL-2", "RPL-3", "EXP-1", "EXP-2", "EXP-3", "EXP-4", "INT-1", "INT-2", "INT-3", "INT-4", "INT-5", "INT-6", "INT-7", "TMP-1", "TMP-2", "TMP-3", "STP-1", "PUD-1", "PUD-2", "TPO-1", "MAT-1", "PRK-1", "PRK-2", "PRK-3", "PRK-4", "PRK-5", "RFG-1", "EST-1", "EST-2", "EST-3", "RRF-1", "RRF-2", "RRF-3", "SAF-1", "SAF-2", "SAF-3", "SAF-4", "EXPL-1", "SIM-1", "SIM-2", "TM-1", "TM-2", "TM-3", "TM-4", "ORCA-1", "OSC-1", "CAR-1", "USE-1", "USE-2", "USE-3", "USE-4", "USE-5", "USE-6", "USE-7", "USE-8", "USE-9", "USE-10", "USE-11", "USE-12", "USE-13", "USE-14")
