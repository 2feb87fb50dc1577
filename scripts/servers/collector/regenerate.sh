#!/usr/bin/env bash
# Makes main.go, components.go, go.mod and go.sum again from manifest.yaml; only needed when the manifest changes.
# The builder's own `go mod tidy` is left out: it wants test-only modules that are not to be had, and 1.8 GB on the way.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
version=$(sed -n 's/^  version: //p' "$here/manifest.yaml")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

GOBIN=$scratch go install "go.opentelemetry.io/collector/cmd/builder@v$version"
sed "s#output_path:.*#output_path: $scratch/out#" "$here/manifest.yaml" > "$scratch/manifest.yaml"
(cd "$scratch" && ./builder --config manifest.yaml --skip-compilation --skip-get-modules)
cp "$scratch/out/main.go" "$scratch/out/main_others.go" "$scratch/out/components.go" "$here/"

cd "$here"
rm -f go.sum
{
  printf 'module entelix-otel.test/collector\n\ngo 1.25.0\n\nrequire (\n'
  sed -n 's/.*gomod: /\t/p' manifest.yaml
  printf '\tgo.opentelemetry.io/collector/service v%s\n\tgo.opentelemetry.io/collector/otelcol v%s\n)\n' "$version" "$version"
} > go.mod
GOFLAGS='-mod=mod -buildvcs=false' go list -deps . > /dev/null
