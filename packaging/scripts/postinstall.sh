#!/bin/sh
# Arguments: of deb "configure" and the old version, empty at the first install; of rpm 1 at
# the first install, 2 at an upgrade.
set -e
first=no
case "$1" in
configure) [ -z "$2" ] && first=yes ;;
1) first=yes ;;
abort-*) exit 0 ;;
esac
if command -v systemd-sysusers >/dev/null; then
	systemd-sysusers svcd.conf
elif ! getent passwd svcctl >/dev/null; then
	useradd --system --home-dir /var/lib/svcctl --no-create-home --shell /usr/sbin/nologin svcctl
fi
if [ ! -e /etc/svcctl/svcd.env ]; then
	(umask 077 && cp /usr/share/svcctl/svcd.env.example /etc/svcctl/svcd.env)
fi
# rpm renames changed settings when it removes a package, and does not read them at the next installation.
if [ "$1" = 1 ] && [ -e /etc/svcctl/svcd.yaml.rpmsave ]; then
	echo "The settings of the earlier installation are in /etc/svcctl/svcd.yaml.rpmsave. To have them again: mv /etc/svcctl/svcd.yaml.rpmsave /etc/svcctl/svcd.yaml" >&2
fi
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
units="svcd-api.socket svcd-gateway.socket svcd.service"
if [ $first = no ]; then
	# The sockets stay open: connections wait for the new daemon.
	systemctl try-restart svcd.service || echo "svcd did not start again: systemctl status svcd" >&2
elif [ "$1" = configure ]; then
	# Debian starts what it installs.
	systemctl enable --quiet $units
	systemctl start $units || echo "svcd does not run yet: systemctl status svcd" >&2
else
	# With rpm the presets of the distribution decide.
	systemctl preset --quiet $units || true
fi
