# Readback in one image: `serve` (the MCP server), `worker`, and every other command of the `readback` program.
FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24.21.0-bookworm-slim
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY . .
RUN install -d -o 1000 -g 1000 /data /data/state
# node, by number, so that the host knows it too
USER 1000:1000
# ./readback.yaml, where there is one, is the catalogue; what `up` keeps lands here as well.
WORKDIR /data
EXPOSE 8484
# Of `serve`; the other commands listen on nothing.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8484/healthz').then((reply) => process.exit(reply.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "/app/bin/readback.mjs"]
CMD ["serve"]
