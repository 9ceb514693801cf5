"""What is expected of a design: traffic files, typical items, and how large they are."""

from keyplan.design.traffic.files import Traffic, read_traffic, traffic_from, traffic_of

__all__ = ["Traffic", "read_traffic", "traffic_from", "traffic_of"]
