import asyncio


async def main():
    try:
        async with asyncio.timeout(0.01):
            await asyncio.sleep(10)
    except TimeoutError as error:
        print("timeout", repr(error))


asyncio.run(main())
