#!/usr/bin/env bash
# A real Home Assistant with its demo devices, for tests.
#
#   home-assistant.sh install DIR                       installs into DIR/venv, once (about a minute, 700 MB)
#   home-assistant.sh serve DIR CONFIG PORT [UNITS]     serves on 127.0.0.1:PORT in the foreground, until SIGTERM
#
# CONFIG is a folder of this one run; its owner's access token is written to CONFIG/token before the server starts.
# UNITS is the instance's unit system: metric (°C, the default) or us_customary (°F).
set -euo pipefail
version=2025.4.4 # the newest one that runs on Python 3.13.0
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

find_python() {
  local candidate
  for candidate in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.13*/bin/python3.13 "$(command -v python3.13 || true)"; do
    if [ -x "$candidate" ] && "$candidate" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 13))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  echo "Home Assistant $version needs Python 3.13: install python3.13 (with venv), or run: pyenv install 3.13" >&2
  return 1
}

install() {
  local dir=$1 python
  [ -e "$dir/installed-$version" ] && return
  python=$(find_python)
  rm -rf "$dir/venv" "$dir/wheel"
  "$python" -m venv "$dir/venv"
  "$dir/venv/bin/pip" install -q --disable-pip-version-check uv
  "$dir/venv/bin/pip" download -q --disable-pip-version-check --no-deps -d "$dir/wheel" "homeassistant==$version"
  "$python" -m zipfile -e "$dir"/wheel/homeassistant-*.whl "$dir/wheel/unpacked"
  # Plain pip backtracks for minutes on this set; uv with Home Assistant's own constraints doesn't.
  # The frontend is needed: without it, Home Assistant falls into recovery mode and listens on every interface.
  "$dir/venv/bin/uv" pip install -q --python "$dir/venv/bin/python" \
    -c "$dir/wheel/unpacked/homeassistant/package_constraints.txt" \
    "homeassistant==$version" hassil home-assistant-intents PyTurboJPEG mutagen ha-ffmpeg home-assistant-frontend
  rm -rf "$dir/wheel"
  touch "$dir/installed-$version"
}

serve() {
  local dir=$1 config=$2 port=$3 units=${4:-metric}
  mkdir -p "$config/.storage"
  cat >"$config/configuration.yaml" <<YAML
homeassistant: { name: Test, latitude: 0, longitude: 0, elevation: 0, unit_system: $units, time_zone: UTC }
http: { server_host: 127.0.0.1, server_port: $port }
api:
demo:
input_boolean: { guests: { name: Guests } }
input_number: { level: { name: Level, min: 0, max: 20, step: 0.5, initial: 3, unit_of_measurement: dB } }
input_select: { scene: { name: Scene, options: [day, night] } }
input_button: { bell: { name: Bell } }
YAML
  # Without this it looks at every network adapter of the machine.
  echo '{"version":1,"minor_version":1,"key":"core.network","data":{"configured_adapters":["lo"]}}' >"$config/.storage/core.network"
  node "$here/home-assistant-owner.mjs" "$config" >"$config/token"
  PATH="$dir/venv/bin:$PATH" exec "$dir/venv/bin/hass" --config "$config" --skip-pip
}

case ${1:-} in
install)
  mkdir -p "$2"
  dir=$(cd "$2" && pwd)
  # Two test runs at once must not install over each other.
  exec 9>"$dir/install.lock"
  flock 9
  install "$dir"
  ;;
serve) serve "${@:2}" ;;
*)
  sed -n '2,8p' "${BASH_SOURCE[0]}" >&2
  exit 2
  ;;
esac
