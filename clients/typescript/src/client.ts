/** The client. Its calls are the API's own paths, typed by openapi.yaml. */

import createClient, { type Client, type ParamsOption, type RequestBodyOption } from "openapi-fetch";
import type {
  HttpMethod,
  PathsWithMethod,
  RequiredKeysOf,
  ResponseObjectMap,
  SuccessResponse,
} from "openapi-typescript-helpers";

import type { paths } from "./api.ts";
import { errorOf } from "./errors.ts";
import { type Fetch, retrying } from "./retries.ts";

const VERSION = "0.1.0";
const ROOT = "/api/v1";

/** The API by its paths below `/api/v1`. */
type Api = { [Path in keyof paths as Path extends `${typeof ROOT}${infer Rest}` ? Rest : never]: paths[Path] };
type PathsOf<Method extends HttpMethod> = PathsWithMethod<Api, Method>;
type Download = PathsOf<"get"> & `${string}.csv`;
type Readable = Exclude<PathsOf<"get">, Download>;
/** The lists, which answer page by page. */
type List = {
  [Path in Readable]: Answer<Api[Path]["get"]> extends { nextCursor: string | null } ? Path : never;
}[Readable];

type Answer<Operation> = SuccessResponse<ResponseObjectMap<Operation> & object, "application/json">;
type Data<Operation> = Answer<Operation> extends { data: infer Found } ? Found : never;
type Row<Operation> = Data<Operation> extends readonly (infer Found)[] ? Found : never;

/** What a call is given: path and query parameters, and the body where the operation has one. */
type Given<Operation extends { parameters: object }> = RequestBodyOption<Operation> &
  ParamsOption<{ parameters: Omit<Operation["parameters"], "header" | "cookie"> }> & {
    signal?: AbortSignal;
  };
/** A write is repeatable: name the key yourself where your program may restart. */
type GivenToWrite<Operation extends { parameters: object }> = Given<Operation> & {
  idempotencyKey?: string;
};
/** Left out where nothing of it is needed. */
type Init<Options> = RequiredKeysOf<Options> extends never ? [init?: Options] : [init: Options];

/** The same without what the operation says of it. */
type Sent = { params?: { query?: object | undefined } | undefined; [option: string]: unknown };
type Written = Sent & { idempotencyKey?: string };

export interface BallastOptions {
  /** Where Ballast is, without `/api/v1`. */
  baseUrl?: string;
  /** How often a request is sent at most; 4 unless given. */
  tries?: number;
  /** Before the second try, in milliseconds; 200 unless given, and three times as long each time. */
  backoffMs?: number;
  /** How long one try may take, in milliseconds; 30,000 unless given. */
  timeoutMs?: number;
  /** Your own, such as one with a proxy, in place of the platform's. */
  fetch?: Fetch;
}

/** Answers with the `data` of the API. Every call throws ApiError and ConnectionFailed. */
export class Ballast {
  readonly #http: Client<Record<string, any>>;

  constructor(apiKey: string, options: BallastOptions = {}) {
    const { baseUrl = "http://localhost:8000", fetch = globalThis.fetch } = options;
    const { tries = 4, backoffMs = 200, timeoutMs = 30_000 } = options;
    this.#http = createClient<Record<string, any>>({
      baseUrl: baseUrl.replace(/\/+$/, "") + ROOT,
      headers: {
        Authorization: `Bearer ${apiKey}`,
        "User-Agent": `ballast-client-typescript/${VERSION}`,
      },
      fetch: retrying({ fetch, tries, backoffMs, timeoutMs }),
    });
  }

  async get<Path extends Readable>(
    path: Path,
    ...[init]: Init<Given<Api[Path]["get"]>>
  ): Promise<Data<Api[Path]["get"]>> {
    return (await this.#sent("get", path, init)).data;
  }

  /** Every row of a list; further pages are fetched as you go. */
  async *each<Path extends List>(
    path: Path,
    ...[init]: Init<Given<Api[Path]["get"]>>
  ): AsyncGenerator<Row<Api[Path]["get"]>, void, undefined> {
    let { data, nextCursor } = await this.#sent("get", path, init);
    yield* data;
    while (nextCursor !== null) {
      ({ data, nextCursor } = await this.#sent("get", path, withCursor(init, nextCursor)));
      yield* data;
    }
  }

  /** The whole list as CSV. */
  async download<Path extends Download>(
    path: Path,
    ...[init]: Init<Given<Api[Path]["get"]>>
  ): Promise<string> {
    return await this.#sent("get", path, { ...init, parseAs: "text" });
  }

  async post<Path extends PathsOf<"post">>(
    path: Path,
    ...[init]: Init<GivenToWrite<Api[Path]["post"]>>
  ): Promise<Data<Api[Path]["post"]>> {
    return (await this.#written("post", path, init)).data;
  }

  async patch<Path extends PathsOf<"patch">>(
    path: Path,
    ...[init]: Init<GivenToWrite<Api[Path]["patch"]>>
  ): Promise<Data<Api[Path]["patch"]>> {
    return (await this.#written("patch", path, init)).data;
  }

  async delete<Path extends PathsOf<"delete">>(
    path: Path,
    ...[init]: Init<GivenToWrite<Api[Path]["delete"]>>
  ): Promise<Data<Api[Path]["delete"]>> {
    return (await this.#written("delete", path, init)).data;
  }

  #written(method: HttpMethod, path: string, init: Written = {}): Promise<any> {
    const { idempotencyKey = crypto.randomUUID(), ...options } = init;
    return this.#sent(method, path, { ...options, headers: { "Idempotency-Key": idempotencyKey } });
  }

  /** The body of a success. What it is, the callers above know by its path. */
  async #sent(method: HttpMethod, path: string, init: Sent = {}): Promise<any> {
    const { data, error, response } = await this.#http.request(method, path, init);
    if (response.ok) return data;
    throw errorOf(response, error);
  }
}

function withCursor(init: Sent = {}, cursor: string): Sent {
  return { ...init, params: { ...init.params, query: { ...init.params?.query, cursor } } };
}
