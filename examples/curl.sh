# Sends NDJSON from standard input; the answer has a result for each line. What was sent before does no harm.
#   sh examples/curl.sh < recordings/success.ndjson
curl --silent --show-error --fail-with-body --retry 5 --retry-connrefused -H "Authorization: Bearer ${ENTELIX_OTEL_TOKEN:-none}" -H "Content-Type: application/x-ndjson" --data-binary @- "${ENTELIX_OTEL_URL:-http://127.0.0.1:4321}/v1/events?dialect=auto"
