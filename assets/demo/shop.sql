-- The database of the demo's shop, as each demo begins.
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT NOT NULL);
INSERT INTO customers VALUES (1, 'Ada', 'London'), (2, 'Grace', 'New York'), (3, 'Katherine', 'Hampton');
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL, cents INTEGER NOT NULL, status TEXT NOT NULL);
INSERT INTO orders VALUES (1001, 1, 4200, 'paid'), (1002, 2, 1999, 'cancelled'), (1003, 3, 7650, 'open'),
                          (1004, 1, 1250, 'open'), (1005, 2, 9900, 'cancelled');
CREATE TABLE sessions (id INTEGER PRIMARY KEY, customer INTEGER NOT NULL, idle_days INTEGER NOT NULL);
INSERT INTO sessions VALUES (1, 1, 1), (2, 2, 4), (3, 3, 41), (4, 1, 130), (5, 2, 402);
