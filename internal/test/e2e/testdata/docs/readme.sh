# The session starts its server itself.
cp -r "$REPO/examples" .
trap 'kill $(jobs -p); wait' EXIT
