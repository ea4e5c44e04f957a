/** A small HTTP server in this process that keeps every request and answers as it is told. */

import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

export interface Received {
  headers: IncomingHttpHeaders;
  body: Buffer;
  at: number;
}

export interface Server {
  url: string;
  received: Received[];
  [Symbol.asyncDispose](): Promise<void>;
}

export async function serve(
  answer: (response: ServerResponse, received: Received[]) => void,
): Promise<Server> {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    received.push({ headers: request.headers, body: await buffer(request), at: Date.now() });
    answer(response, received);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
