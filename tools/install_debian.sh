#!/usr/bin/env bash
# Installs what some checks need and PyPI does not have, on Debian and its kin: Oclgrind for
# `nox -s oclgrind` and a C compiler for examples/backend-kernel. It needs root, and does nothing
# where all of it is there. `tests` and `demo` need none of this.
set -euo pipefail

missing=()
command -v oclgrind >/dev/null || missing+=(oclgrind)
command -v g++ >/dev/null || missing+=(g++)

if ((${#missing[@]} == 0)); then
    echo "install_debian: oclgrind and g++ are there"
    exit 0
fi
if [[ $(id -u) -ne 0 ]]; then
    echo "install_debian: ${missing[*]} missing; run this as root" >&2
    exit 1
fi
if ! command -v apt-get >/dev/null; then
    echo "install_debian: ${missing[*]} missing, and there is no apt-get to install them" >&2
    exit 1
fi
echo "install_debian: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -y -q --no-install-recommends "${missing[@]}"
echo "install_debian: installed ${missing[*]}"
