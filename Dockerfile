# docker build -t evaltex . && docker run --rm -v "$PWD:/data" --user "$(id -u):$(id -g)" evaltex gt.txt det.txt results
FROM python:3.12-slim AS build
COPY . /source
RUN python -m venv /opt/evaltex && /opt/evaltex/bin/pip install --no-cache-dir "/source[cluster,mat]"

FROM python:3.12-slim
COPY --from=build /opt/evaltex /opt/evaltex
ENV PATH="/opt/evaltex/bin:$PATH"
WORKDIR /data
USER nobody
ENTRYPOINT ["evaltex"]
CMD ["--help"]
