import site
print(site.ENABLE_USER_SITE, site.USER_BASE, site.USER_SITE, site.PREFIXES)
print(site.getsitepackages(), site.getuserbase(), site.getusersitepackages())
