#!/bin/sh
# An upgrade stops nothing: the old daemon serves until the new one is installed.
set -e
case "$1" in upgrade | 1) exit 0 ;; esac
[ -d /run/systemd/system ] || exit 0
systemctl --quiet disable --now svcd.service svcd-api.socket svcd-gateway.socket svcd-https.socket svcd-http.socket || true
