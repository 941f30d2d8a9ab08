// Texts as the words the server splits them into, but for what has neither letter nor digit.
// The server's own rules are in text/words.py; of those, these matter for words one would choose.

const IDEOGRAPH = "[\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uf900-\\ufaff\\u{20000}-\\u{3ffff}]";
const LETTER = `(?:(?!${IDEOGRAPH})[\\p{L}\\p{N}\\p{M}_])`;
const CLITIC = `['’](?:s|re|ve|ll|d|m)(?!${LETTER})`; // it|'s
const NEGATION = `n['’]t(?!${LETTER})`; // do|n't
const ATOM = `(?:\\d+(?:[.,:/]\\d+)+${LETTER}*|${LETTER}+)`;
const WORD = new RegExp(`${NEGATION}|${CLITIC}|${LETTER}+?(?=${NEGATION})|${ATOM}(?:(?:[-‐‑]|(?!${CLITIC})['’])${ATOM})*|${IDEOGRAPH}`, "giu");

export const matches = (text) => text.matchAll(WORD);

export const wordsOf = (text) => [...matches(text)].map((match) => match[0]);

export const holds = (text, word) => wordsOf(text).some((one) => same(one, word));

export const same = (one, other) => one.toLowerCase() === other.toLowerCase();
