print(input())
input("again: ")
