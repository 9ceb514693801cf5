"""The expected load of a design, from traffic files, with typical items and their sizes."""

from keyplan.analysis.traffic.traffic_file import Traffic, read_traffic, traffic_from, traffic_of

__all__ = ["Traffic", "read_traffic", "traffic_from", "traffic_of"]
