// Requests to the server this page came from, and to no other.
import { askForToken } from "./token.js";

let token = null; // in memory alone: it is gone with the page

export const get = (path) => request(path, {});

export function post(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  return request(path, { method: "POST", headers, body: JSON.stringify(body), signal });
}

// `run` is given a signal; a newer call ends the older one, whose result nobody wants any more.
export function latest(run) {
  let current;
  return async (...given) => {
    current?.abort();
    const mine = (current = new AbortController());
    try {
      return await run(mine.signal, ...given);
    } catch (error) {
      if (mine.signal.aborted) return undefined;
      throw error;
    }
  };
}

async function request(path, options) {
  const response = await answer(path, options);
  const said = await response.json();
  if (!response.ok) throw new Error(said.error || `The server answered ${response.status}.`);
  return said;
}

export async function answer(path, options = {}) {
  const known = token ? { Authorization: `Bearer ${token}` } : {};
  let response;
  try {
    response = await fetch(path, { ...options, headers: { ...options.headers, ...known } });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Error("The server does not answer. Is it still running?");
  }
  if (response.status !== 401) return response;
  token = await askForToken(token !== null);
  return answer(path, options);
}

export const hasToken = () => token !== null;
