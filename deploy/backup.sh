#!/bin/sh
# A backup now and every 24 hours: the database and the key that signs links. The last 14 are kept.
# Usage: backup.sh FOLDER [once]; the database is named by PGHOST, PGUSER, PGPASSWORD and PGDATABASE.
set -eu
folder=$1
while true; do
    name=adjudge-$(date -u +%Y-%m-%dT%H%M%SZ)
    if pg_dump --format=custom --file="$folder/$name.part"; then
        mv "$folder/$name.part" "$folder/$name.dump" # never half a backup under the final name
        if [ -f /data/secret ]; then
            (umask 077 && cp /data/secret "$folder/secret")
        fi
        ls -1t "$folder"/adjudge-*.dump | tail -n +15 | xargs -r rm --
        echo "wrote $name.dump"
    else
        rm -f "$folder/$name.part"
        echo "backup failed" >&2
        [ "${2:-}" != once ] || exit 1
    fi
    [ "${2:-}" != once ] || exit 0
    sleep 86400 &
    wait $! # so that a signal ends the script at once
done
