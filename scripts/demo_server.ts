/**
 * The shop that the examples talk to: a small HTTP service on a free loopback port.
 *
 * @module
 */

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
}

/** Opens a shop. Its first two health checks find it still busy with opening. */
export function openShop(options: ShopOptions = {}): Shop {
  const password = options.password ?? crypto.randomUUID();
  const token = crypto.randomUUID().replaceAll("-", "").slice(0, 24);
  const orders = new Map<number, Order>();
  let healthChecks = 0;

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
    if (route === "POST /login") {
      const { password: given } = await request.json();
      return given === password
        ? Response.json({ token })
        : Response.json({ error: "wrong password" }, { status: 403 });
    }
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
      return new Response(null, { status: 204 });
    }
    return Response.json({ error: "no such page" }, { status: 404 });
  }

  function showTeas(page: number): Response {
    const items = TEAS.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE);
    const next = page * PAGE_SIZE < TEAS.length ? `/teas?page=${page + 1}` : null;
    return Response.json({ items, total: TEAS.length, next });
  }

  function placeOrder({ product, count }: Order): Response {
    const price = PRODUCTS.find(({ name }) => name === product)?.price;
    if (price === undefined || !(count > 0)) {
      return Response.json({ error: `cannot sell ${count} of ${product}` }, { status: 422 });
    }
    const order = { id: 1000 + orders.size + 1, product, count, total: price * count };
    orders.set(order.id, order);
    return Response.json(order, { status: 201 });
  }

  const { port = 0 } = options;
  const server = Deno.serve({ hostname: "127.0.0.1", port, onListen: () => {} }, answer);
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    password,
    close: () => server.shutdown(),
  };
}
