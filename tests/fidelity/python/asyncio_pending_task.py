import asyncio


async def main():
    asyncio.get_running_loop().create_task(asyncio.sleep(10))


asyncio.run(main())
print("end")
