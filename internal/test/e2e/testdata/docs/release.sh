# The guestbook is production as v7, and has an entry. The next change adds a column.
cp -r "$REPO/examples/guestbook" guestbook && cd guestbook
svcctl deploy --version v7 --wait
svcctl curl v7 /entries -d '{"name":"Ada","message":"hello"}'
printf -- "-- svcctl: compatible\nALTER TABLE entries ADD COLUMN mood TEXT NOT NULL DEFAULT '';\n" >migrations/0002_mood.sql
