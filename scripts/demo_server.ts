/**
 * The shop that the examples talk to: a small HTTP service on a free loopback port.
 *
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { openCounters } from "./demo_counters.ts";

/** A shop that is open until it is closed. */
export interface Shop {
  readonly url: string;
  readonly password: string;
  close(): Promise<void>;
}

interface Order {
  readonly id: number;
  readonly product: string;
  readonly count: number;
  readonly total: number;
}

const PRODUCTS = [{ name: "tea", price: 4.5 }, { name: "mug", price: 12 }];

/** The products on each page, up to a number per page. */
const TEAS = ["assam", "bancha", "ceylon", "darjeeling", "earl grey"].map((name, index) => ({
  id: index + 1,
  name,
  picked: `2026-0${index + 1}-15`,
  packs: [{ grams: 50, price: 3.2 + index }, { grams: 250, price: 12.5 + index }],
}));
const PAGE_SIZE = 2;

/** Where a shop is, and what opens it: by default a free port and a random password. */
export interface ShopOptions {
  readonly port?: number;
  readonly password?: string;
  /** A SQLite file that gets a row for each order. */
  readonly database?: string;
}

/** Opens a shop. Its first two health checks find it still busy with opening. */
export function openShop(options: ShopOptions = {}): Shop {
  const password = options.password ?? crypto.randomUUID();
  const token = crypto.randomUUID().replaceAll("-", "").slice(0, 24);
  const orders = new Map<number, Order>();
  /** The ids of payments, by idempotency key. */
  const payments = new Map<string, string>();
  const counters = openCounters({ password, token });
  const book = options.database === undefined ? undefined : openBook(options.database);
  let healthChecks = 0;
  let placed = 0;

  async function answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const route = `${request.method} ${pathname.replace(/\d+$/, ":id")}`;
    if (route === "GET /health") {
      return ++healthChecks > 2
        ? Response.json({ status: "ok" })
        : Response.json({ status: "opening" }, { status: 503 });
    }
    if (route === "GET /products") return Response.json(PRODUCTS);
    if (route === "GET /teas") return showTeas(Number(searchParams.get("page") ?? 1));
    if (route === "GET /support") return openSupport(request);
    if (route === "GET /deliveries") return streamDeliveries();
    if (route === "POST /login") {
      const { password: entered } = await request.json();
      return entered === password
        ? Response.json({ token })
        : Response.json({ error: "wrong password" }, { status: 403 });
    }
    if (route === "POST /payments") return pay(request.headers.get("idempotency-key"));
    const response = await counters(request);
    if (response) return response;
    if (request.headers.get("authorization") !== `Bearer ${token}`) {
      return Response.json({ error: "log in first" }, { status: 401 });
    }
    if (route === "POST /orders") return placeOrder(await request.json());
    const id = Number(pathname.split("/").at(-1));
    const order = orders.get(id);
    if (!order) return Response.json({ error: `there is no order ${id}` }, { status: 404 });
    if (route === "GET /orders/:id") return Response.json(order);
    if (route === "DELETE /orders/:id") {
      orders.delete(id);
      book?.remove(id);
      return new Response(null, { status: 204 });
    }
    return Response.json({ error: "no such page" }, { status: 404 });
  }

  function showTeas(page: number): Response {
    const items = TEAS.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
    const next = page * PAGE_SIZE < TEAS.length ? `/teas?page=${page + 1}` : null;
    return Response.json({ items, total: TEAS.length, next });
  }

  /** A chat that answers each question, and closes after "bye". */
  function openSupport(request: Request): Response {
    const { socket, response } = Deno.upgradeWebSocket(request);
    const say = (message: Readonly<Record<string, unknown>>) =>
      socket.send(JSON.stringify(message));
    socket.onopen = () => say({ type: "welcome", waiting: 0 });
    socket.onmessage = ({ data }) => {
      if (data === "bye") return socket.close(1000, "see you");
      const product = PRODUCTS.find(({ name }) => String(data).includes(name));
      say({ type: "typing" });
      say({ type: "answer", price: product?.price ?? null });
    };
    return response;
  }

  /** The states of a delivery as events. The stream stays open after the last one. */
  function streamDeliveries(): Response {
    const states = ["packed", "on the way", "delivered"];
    const events = states.map((state, index) =>
      `id: ${index + 1}\nevent: state\ndata: ${JSON.stringify({ state })}\n\n`
    );
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode(events.join(""))),
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }

  /** Makes a payment, or finds that of the same key. */
  function pay(key: string | null): Response {
    if (key === null) return Response.json({ error: "no idempotency key" }, { status: 400 });
    const id = payments.get(key);
    if (id !== undefined) return Response.json({ id });
    const made = crypto.randomUUID();
    payments.set(key, made);
    return Response.json({ id: made }, { status: 201 });
  }

  function placeOrder({ product, count }: Order): Response {
    const price = PRODUCTS.find(({ name }) => name === product)?.price;
    if (price === undefined || !(count > 0)) {
      return Response.json({ error: `cannot sell ${count} of ${product}` }, { status: 422 });
    }
    const order = { id: 1000 + ++placed, product, count, total: price * count };
    orders.set(order.id, order);
    book?.add(order);
    return Response.json(order, { status: 201 });
  }

  const { port = 0 } = options;
  const server = Deno.serve({ hostname: "127.0.0.1", port, onListen: () => {} }, answer);
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    password,
    async close() {
      await server.shutdown();
      book?.close();
    },
  };
}

/** Writes orders into a database, as a shop would. */
function openBook(path: string) {
  const database = new DatabaseSync(path);
  database.exec("CREATE TABLE orders (id INTEGER PRIMARY KEY, product TEXT, total REAL)");
  const insert = database.prepare("INSERT INTO orders VALUES (?, ?, ?)");
  const remove = database.prepare("DELETE FROM orders WHERE id = ?");
  return {
    add: ({ id, product, total }: Order) => void insert.run(id, product, total),
    remove: (id: number) => void remove.run(id),
    close: () => database.close(),
  };
}
