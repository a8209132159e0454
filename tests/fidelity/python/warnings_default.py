import warnings
warnings.warn("a user warning")
warnings.warn("old", DeprecationWarning)
warnings.warn("soon", PendingDeprecationWarning)
for _ in range(3):
    warnings.warn("only once from here")
print(__warningregistry__ is not None, warnings.filters)
