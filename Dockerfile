# kproxy: `docker run … kproxy serve --bootstrap-servers …`; every option also as a KPROXY_* variable (docs/deploy.md).
ARG BASE=python:3.13-slim-trixie
# The same Python with a C compiler, which the image itself does not get.
ARG BUILD_BASE=python:3.13-trixie

FROM ${BUILD_BASE} AS build
WORKDIR /src
# pip lives in the builder's venv only: the runtime venv holds kproxy and its dependencies, nothing that installs.
COPY deploy/build-requirements.lock deploy/requirements.lock deploy/
RUN python3 -m venv /opt/build \
 && /opt/build/bin/pip install --no-cache-dir --require-hashes -r deploy/build-requirements.lock \
 && python3 -m venv --without-pip /opt/kproxy \
 && /opt/build/bin/pip --python /opt/kproxy/bin/python3 install --no-cache-dir --require-hashes -r deploy/requirements.lock \
 # What is never loaded: zstandard's other backend, 12 MB for PyPy; Trio's own tests, 2.5 MB; the languages that rich could
 # colour, 10 MB, and the Markdown that it could show, 1 MB; the parser that cffi has for builds; the pydantic of before,
 # 1 MB.
 && site=$(echo /opt/kproxy/lib/python3*/site-packages) \
 && rm "$site"/zstandard/_cffi.*.so \
 && rm -r "$site/trio/_tests" "$site/trio/_core/_tests" \
 && find "$site/pygments/lexers" -name '*.py*' ! -name 'python.*' ! -name '__init__.*' ! -name '_mapping.*' -delete \
 && rm -r "$site/pycparser" "$site/pydantic/v1" "$site/markdown_it" "$site/mdurl" \
 # What only a debugger reads: 17 MB.
 && find "$site" -name '*.so' -exec strip --strip-unneeded {} + \
 && /opt/kproxy/bin/python3 -c 'import cramjam, cryptography.x509, google._upb._message, pydantic, re2, rich.traceback, yaml, zstandard'
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY kproxy kproxy
# The relay compiled: two fifths less user time for a small request (docs/performance.md, Compiled).
ENV HATCH_BUILD_HOOK_ENABLE_CUSTOM=1
RUN /opt/build/bin/pip wheel --no-cache-dir --no-index --no-deps --no-build-isolation --wheel-dir /tmp/wheel . \
 && /opt/build/bin/pip --python /opt/kproxy/bin/python3 install --no-cache-dir --no-index --no-deps /tmp/wheel/*.whl \
 # The bytecode of modules that are compiled is never loaded either.
 && find /opt/kproxy/lib/python3*/site-packages/kproxy -name '*.so' -exec sh -c \
      'for so; do name=${so##*/}; rm -f "${so%/*}/__pycache__/${name%%.*}".*.pyc; done' sh {} +
COPY --chmod=755 deploy/image/healthcheck.py /opt/kproxy/bin/kproxy-healthcheck

FROM ${BASE}
LABEL org.opencontainers.image.title="kproxy" \
      org.opencontainers.image.description="A Kafka proxy on Trio" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /opt/kproxy /opt/kproxy
ENV PATH=/opt/kproxy/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    KPROXY_ADMIN=0.0.0.0:9190
# A number, so that Kubernetes can prove runAsNonRoot; it needs no entry in /etc/passwd and no home.
USER 65532:65532
WORKDIR /
# Bootstrap, the first nodes, admin. More nodes take the following ports.
EXPOSE 9092-9095 9190
HEALTHCHECK --interval=10s --timeout=3s --start-period=5s --retries=3 CMD ["kproxy-healthcheck"]
# Exec form: kproxy is PID 1 itself and drains at SIGTERM.
STOPSIGNAL SIGTERM
ENTRYPOINT ["kproxy"]
CMD ["serve"]
