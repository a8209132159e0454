import asyncio
loop = asyncio.new_event_loop()
loop.run_until_complete(asyncio.sleep(0))
print("loop is left open")
