import asyncio


async def numbers():
    try:
        yield 1
    finally:
        print("closed")


async def main():
    async for number in numbers():
        break


asyncio.run(main())
