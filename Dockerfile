# An image with the binary of a release and a shell:
#   docker build --build-arg RELEASES=https://…/releases --build-arg VERSION=1.2.3 -t runner .
#   docker run --rm -v "$PWD:/work" runner workflow.yml
FROM debian:stable-slim AS download
ARG RELEASES
ARG VERSION=latest
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates curl \
  && rm -rf /var/lib/apt/lists/*
COPY scripts/install.sh /install.sh
RUN RUNNER_RELEASES="$RELEASES" RUNNER_INSTALL=/out sh /install.sh "$VERSION"

FROM debian:stable-slim
RUN apt-get update \
  && apt-get install -y --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/* \
  && useradd --create-home runner
COPY --from=download /out/runner /usr/local/bin/runner
USER runner
WORKDIR /work
ENTRYPOINT ["runner"]
CMD ["--help"]
