import first
