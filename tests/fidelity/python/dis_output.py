import dis
dis.dis(lambda x: x + 1)
