import asyncio


async def main():
    await asyncio.sleep(0.01)
    print(await asyncio.gather(*(asyncio.sleep(0, i) for i in range(3))))


asyncio.run(main())
