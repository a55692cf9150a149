// The parts of the package puppeteer-core that this project uses. Its own types need those of the
// DOM, which would reach every module of the program.

export interface Handle {
  // Functions are sent to the page as text and run there.
  // deno-lint-ignore no-explicit-any
  evaluate<A extends any[], R>(script: (element: any, ...args: A) => R, ...args: A): Promise<
    Awaited<R>
  >;
  click(options: { readonly button: "left" | "right"; readonly count: number }): Promise<void>;
  hover(): Promise<void>;
  focus(): Promise<void>;
  uploadFile(...paths: string[]): Promise<void>;
  /** The page in an `iframe`. */
  contentFrame(): Promise<PageFrame | null>;
  screenshot(options: ScreenshotOptions): Promise<Uint8Array>;
  remoteObject(): { readonly objectId?: string };
  jsonValue(): Promise<unknown>;
}
/** Finds an element again and again until it is as wanted, in whichever page there is. */
interface Locator {
  /** In milliseconds; 0 leaves it to the signal. */
  setTimeout(milliseconds: number): Locator;
  /** The package keeps this to itself; its `filter` would not see that an element is replaced. */
  filterHandle(fits: (handle: Handle) => Promise<boolean>): Locator;
  waitHandle(options: { readonly signal: AbortSignal }): Promise<Handle>;
  scroll(options: { readonly signal: AbortSignal }): Promise<void>;
}
interface ScreenshotOptions {
  readonly type?: "png" | "jpeg" | "webp";
  readonly quality?: number;
  readonly fullPage?: boolean;
}
export interface Viewport {
  readonly width: number;
  readonly height: number;
  readonly deviceScaleFactor?: number;
  readonly isMobile?: boolean;
  readonly hasTouch?: boolean;
}
export interface Device {
  readonly userAgent: string;
  readonly viewport: Viewport;
}
export interface PageFrame {
  evaluateHandle(script: string): Promise<Handle>;
  $(selector: string): Promise<Handle | null>;
  locator(selector: string): Locator;
  waitForSelector(
    selector: string,
    options: { readonly hidden: true; readonly timeout: 0; readonly signal: AbortSignal },
  ): Promise<Handle | null>;
  // deno-lint-ignore no-explicit-any
  evaluate<A extends any[], R>(script: string | ((...args: A) => R), ...args: A): Promise<
    Awaited<R>
  >;
}
export interface PageRequest {
  method(): string;
  url(): string;
  resourceType(): string;
  failure(): { readonly errorText: string } | null;
  continue(): Promise<void>;
  abort(reason: "blockedbyclient"): Promise<void>;
}
interface PageResponse {
  status(): number;
  request(): PageRequest;
}
export interface DevTools {
  send(method: string, params?: object): Promise<Record<string, unknown>>;
  // deno-lint-ignore no-explicit-any
  on(event: string, listener: (params: any) => void): void;
  /** All of the browser; undefined once it has ended. */
  connection(): BrowserConnection | undefined;
  detach(): Promise<void>;
}
type BrowserConnection = Pick<DevTools, "send" | "on"> & {
  session(id: string): DevTools | null;
};
export interface Page extends PageFrame {
  goto(
    url: string,
    options: { readonly timeout: 0; readonly waitUntil: "load"; readonly signal: AbortSignal },
  ): Promise<PageResponse | null>;
  url(): string;
  title(): Promise<string>;
  screenshot(options: ScreenshotOptions): Promise<Uint8Array>;
  setViewport(viewport: Viewport): Promise<void>;
  emulate(device: Device): Promise<void>;
  setRequestInterception(on: boolean): Promise<void>;
  createCDPSession(): Promise<DevTools>;
  on(event: "request" | "requestfailed", listener: (request: PageRequest) => void): void;
  on(event: "close" | "framedetached", listener: () => void): void;
  on(event: "response", listener: (response: PageResponse) => void): void;
  close(): Promise<void>;
  isClosed(): boolean;
  bringToFront(): Promise<void>;
  readonly keyboard: Keyboard;
  readonly tracing: {
    start(options: { readonly screenshots?: boolean }): Promise<void>;
    stop(): Promise<Uint8Array | undefined>;
  };
}
export interface Keyboard {
  type(text: string): Promise<void>;
  press(key: string): Promise<void>;
  down(key: string): Promise<void>;
  up(key: string): Promise<void>;
}
interface BrowserTarget {
  type(): string;
  page(): Promise<Page | null>;
  createCDPSession(): Promise<DevTools>;
}
export interface Browser {
  pages(): Promise<Page[]>;
  newPage(): Promise<Page>;
  target(): BrowserTarget;
  on(event: "disconnected", listener: () => void): void;
  on(event: "targetcreated", listener: (target: BrowserTarget) => void): void;
}

/** The part of the package that this project uses. */
export interface Puppeteer {
  readonly KnownDevices: Readonly<Record<string, Device>>;
  connect(options: {
    readonly browserWSEndpoint: string;
    readonly defaultViewport: null;
    readonly acceptInsecureCerts?: boolean;
    readonly protocolTimeout?: number;
  }): Promise<Browser>;
}

/** Loads the library that drives browsers. */
export async function loadPuppeteer(): Promise<Puppeteer> {
  return await import("puppeteer-core") as unknown as Puppeteer;
}
