# An image with the binary of a release and a shell:
#   docker build --build-arg RELEASES=https://…/releases --build-arg VERSION=1.2.3 -t runner .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" runner workflow.yml
# Any user will do: with the owner of the directory, reports and snapshots are written into it.
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
# A user that the image does not know has no home to keep anything in.
ENV DENO_DIR=/tmp/.deno
USER runner
WORKDIR /work
ENTRYPOINT ["runner"]
CMD ["--help"]
