import helper
print(helper.text)
