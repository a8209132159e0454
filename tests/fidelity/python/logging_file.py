import logging
logging.basicConfig(filename="log.txt")
logging.error("in a file")
print(open("log.txt").read())
