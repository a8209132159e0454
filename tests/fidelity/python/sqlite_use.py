import sqlite3
with sqlite3.connect("x.db") as db:
    db.execute("create table t(a)")
    db.executemany("insert into t values(?)", [(1,), (2,)])
    print(db.execute("select sum(a) from t").fetchone())
db.execute("no sql")
