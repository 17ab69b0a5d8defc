"""A closed queueing network with exact throughputs: hardware threads as one station of many servers, each lock as one server.

Solved by convolution (Buzen 1973), which for these stations gives what exact mean-value analysis gives, without its subtraction of
nearly equal probabilities when a station saturates. Times in seconds, demands per transaction.
"""
import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Delay:
    """Time that nobody queues for: waiting for a disk, or for the client's machine."""
    demand: float

    def factors(self, customers, scale):
        found = [1.0]
        for count in range(1, customers + 1):
            found.append(found[-1] * self.demand / scale / count)
        return found


@dataclasses.dataclass(frozen=True)
class Servers:
    """`count` equal servers with one queue: the hardware threads."""
    demand: float
    count: int

    def factors(self, customers, scale):
        found = [1.0]
        for number in range(1, customers + 1):
            found.append(found[-1] * self.demand / scale / min(number, self.count))
        return found


@dataclasses.dataclass(frozen=True)
class Lock:
    """A lock of `partitions` equal parts, entered `visits` times per transaction. One visit holds a part for `hold` seconds,
    longer by `handover` for each waiter: a release makes every waiter read the line again (Boyd-Wickizer et al., "Non-scalable
    locks are dangerous", 2012)."""
    name: str
    visits: float
    hold: float
    partitions: int = 1
    handover: float = 0.0

    @property
    def demand(self):
        return self.visits * self.hold / self.partitions

    def factors(self, customers, scale):
        found = [1.0]
        for number in range(1, customers + 1):
            service = self.hold + self.handover * (number - 1)
            found.append(found[-1] * self.visits * service / self.partitions / scale)
        one, whole, count = found, [1.0] + [0.0] * customers, self.partitions
        while count:  # the parts are equal: their joint factors by repeated squaring
            if count & 1:
                whole = convolve(whole, one)
            one = convolve(one, one)
            count >>= 1
        return whole


def convolve(left, right):
    return [math.fsum(left[index] * right[count - index] for index in range(count + 1)) for count in range(len(left))]


def throughputs(stations, customers):
    """Transactions per second with 1, 2, ... `customers` in the network."""
    slowest = max(station.demand / getattr(station, "count", 1) if not isinstance(station, Delay) else 0.0 for station in stations)
    total = sum(station.demand * getattr(station, "partitions", 1) for station in stations)
    scale = max(slowest, total / customers)  # keeps the constants near 1: no overflow, no underflow
    constant = [1.0] + [0.0] * customers
    for station in stations:
        constant = convolve(constant, station.factors(customers, scale))
    return [constant[count - 1] / constant[count] / scale for count in range(1, customers + 1)]
