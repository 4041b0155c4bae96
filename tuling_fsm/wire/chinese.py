"""The words of an explanation in Chinese."""

from __future__ import annotations

from collections.abc import Mapping

from tuling_fsm.core.request import Reason

WORDS: Mapping[Reason, str] = {
    Reason.NONE: "没有限速因素",
    Reason.SPEED_LIMIT: "道路限速",
    Reason.CURVATURE: "弯道",
    Reason.PASSING: "近距离通过",
    Reason.LEADER: "前车",
    Reason.QUEUE: "前方排队",
    Reason.CROSSING: "横穿车辆",
    Reason.OBSTACLE: "障碍物",
    Reason.RED_LIGHT: "红灯",
    Reason.STOP_SIGN: "停车让行标志",
    Reason.PEDESTRIAN: "行人",
    Reason.JUNCTION_OCCUPIED: "路口内有车辆",
    Reason.JUNCTION_EXIT_BLOCKED: "路口出口被堵",
    Reason.LANE_END: "车道终点",
    Reason.ROUTE_END: "路线终点",
    Reason.GEAR_CHANGE: "换挡",
    Reason.STEERING: "原地转动方向盘",
    Reason.TARGET: "目标点",
    Reason.PLANNING: "正在搜索路径",
    Reason.NO_ROUTE: "没有路线",
    Reason.NOT_LOCALIZED: "定位失效",
    Reason.NO_ODOMETRY: "没有里程计",
    Reason.OBJECTS_STALE: "感知无数据",
    Reason.RADAR_STALE: "雷达无数据",
    Reason.EMERGENCY_STOP: "紧急停车",
    Reason.ARRIVED: "已到达",
    Reason.MATCH_OVER: "比赛时间已到",
    Reason.PLAN_REJECTED: "规划未通过检查",
    Reason.NO_PATH: "没有可行路径",
    Reason.START_OCCUPIED: "车辆所在位置被占用",
    Reason.GOAL_OCCUPIED: "目标点被占用",
    Reason.TIMEOUT: "搜索超出预算",
    Reason.OUTSIDE_MAP: "车辆或目标点在地图之外",
}
"""Every reason."""
PLANNER_FAILED = "规划器出错,车辆正在制动"
CLOCK_STANDS = "ROS 时钟停止,车辆正在制动"
