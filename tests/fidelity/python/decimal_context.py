import decimal
print(decimal.getcontext())
print(decimal.Decimal(1) / 7)
decimal.Decimal("x")
