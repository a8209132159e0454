print("é 中文 😀 \u202e \x1b[1m")
