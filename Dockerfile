# The server: docker build -t adjudge . ; see docs/collect/deploy.md for the whole set-up.
# PYTHON names the base of both stages: an image with venv and the Python that
# deploy/requirements.txt was locked for (scripts/lock_image.py).
ARG PYTHON=docker.io/library/python:3.13-slim

FROM ${PYTHON} AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE ./
COPY src ./src
COPY deploy/requirements.txt ./
ARG VERSION=0.1.0
RUN python3 -m venv /opt/adjudge \
    && /opt/adjudge/bin/pip install --no-cache-dir --require-hashes -r requirements.txt \
    && SETUPTOOLS_SCM_PRETEND_VERSION=$VERSION /opt/adjudge/bin/pip install --no-cache-dir --no-deps . \
    && /opt/adjudge/bin/pip uninstall --yes --quiet pip setuptools

FROM ${PYTHON}
COPY --from=build /opt/adjudge /opt/adjudge
RUN useradd --system --uid 10001 --no-create-home adjudge \
    && install -d -o adjudge -g adjudge /data
# Everything that is written goes to /data or /tmp, so the root file system can be read-only.
ENV PATH=/opt/adjudge/bin:$PATH \
    NUMBA_CACHE_DIR=/data/compiled \
    PYTHONDONTWRITEBYTECODE=1 \
    MALLOC_ARENA_MAX=2
USER adjudge
WORKDIR /data
VOLUME /data
EXPOSE 8100
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python3", "-c", "import urllib.request as web; web.urlopen('http://127.0.0.1:8100/readyz', timeout=4)"]
ENTRYPOINT ["adjudge"]
CMD ["serve", "--host", "0.0.0.0", "--database", "/data/adjudge.db", "--secret-file", "/data/secret"]
