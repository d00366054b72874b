create table items (id integer primary key);
