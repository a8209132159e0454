x = """never
ends
