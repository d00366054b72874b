#!/bin/sh
set -e
if [ -d /run/systemd/system ]; then systemctl daemon-reload || true; fi
[ "$1" = purge ] || exit 0
rm -f /etc/svcctl/svcd.env
rmdir --ignore-fail-on-non-empty /etc/svcctl 2>/dev/null || true
# The databases of versions belong to the people who deployed them.
if [ -d /var/lib/svcctl ]; then
	echo "The data stays in /var/lib/svcctl. To delete it: rm -r /var/lib/svcctl && userdel svcctl" >&2
fi
