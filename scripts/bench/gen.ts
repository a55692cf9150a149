import { type Figure, median, type Workbench } from "./bench.ts";

const PATHS = 500;
const SCHEMAS = 600;
const PROPERTIES = 40;

/** A workflow from an API description as large as the largest that are published. */
export async function* benchGen(workbench: Workbench): AsyncGenerator<Figure> {
  const text = JSON.stringify(description(), null, 2);
  const file = await workbench.write("api.json", text);
  const seconds: number[] = [];
  for (let i = 0; i < 3; i++) seconds.push((await workbench.runner("gen", file)).seconds);
  const megabytes = (text.length / 1e6).toFixed(0);
  yield {
    what: `gen on ${PATHS * 2} operations in ${megabytes} MB`,
    value: median(seconds),
    unit: "s",
    goal: { max: 5 },
  };
}

function description() {
  const paths = Array.from({ length: PATHS }, (_, i) => {
    const id = { name: "id", in: "path", required: true, schema: { type: "integer" } };
    return [`/things${i}/{id}`, {
      parameters: [id],
      get: operation(`getThing${i}`, i),
      put: { ...operation(`putThing${i}`, i + 1), requestBody: content(i) },
    }];
  });
  const schemas = Array.from({ length: SCHEMAS }, (_, i) => [`Thing${i}`, schema(i)]);
  return {
    openapi: "3.1.0",
    info: { title: "Things", version: "1" },
    servers: [{ url: "https://api.example.test/v1" }],
    paths: Object.fromEntries(paths),
    components: { schemas: Object.fromEntries(schemas) },
  };
}

function operation(operationId: string, number: number) {
  const query = (name: string) => ({ name, in: "query", schema: { type: "string" } });
  const description = `What ${operationId} does, in a sentence or two that nobody reads. `.repeat(
    4,
  );
  return {
    operationId,
    description,
    tags: [`group ${number % 40}`],
    parameters: [query("filter"), query("sort"), query("page")],
    responses: { "200": { description: "It went well", ...content(number) } },
  };
}

function content(number: number) {
  const $ref = `#/components/schemas/Thing${number % SCHEMAS}`;
  return { content: { "application/json": { schema: { $ref } } } };
}

/** An object with parts, whose parts lead back to it: each twenty schemas know one another. */
function schema(number: number) {
  const first = number - number % 20;
  const properties = Array.from({ length: PROPERTIES }, (_, i) => {
    const $ref = `#/components/schemas/Thing${first + (number + i) % 20}`;
    const description = `The ${i}th property of the ${number}th thing, which has so many of them`;
    if (i % 10 === 9) return [`part${i}`, { $ref }];
    if (i % 10 === 8) return [`parts${i}`, { type: "array", items: { $ref } }];
    return [`field${i}`, { type: i % 2 ? "string" : "integer", description }];
  });
  const required = ["field0", "field1", "part9"];
  return { type: "object", required, properties: Object.fromEntries(properties) };
}
