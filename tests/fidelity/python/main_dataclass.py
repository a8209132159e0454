from dataclasses import dataclass, field


@dataclass(order=True)
class Point:
    x: int = 3
    tags: list = field(default_factory=list)


print(Point(), Point(1) < Point(2))
