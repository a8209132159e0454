import sys
print(sys.builtin_module_names)
print(sorted(sys.stdlib_module_names)[:20])
