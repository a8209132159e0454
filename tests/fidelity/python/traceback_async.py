import asyncio


async def inner():
    await asyncio.sleep(0)
    raise ValueError("from a task")


async def main():
    await asyncio.gather(inner())


asyncio.run(main())
