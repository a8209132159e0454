import asyncio


async def broken():
    raise ValueError("lost")


async def main():
    task = asyncio.create_task(broken())
    await asyncio.sleep(0)
    del task


asyncio.run(main())
