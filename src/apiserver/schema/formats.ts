/**
 * String formats a CRD schema can demand, as kube-openapi's strfmt checks them. Other formats (int32, int64, double,
 * anything unknown) are annotations only: the real server strips them from CRD schemas before validating.
 */
import { isIPv4, isIPv6 } from 'node:net';

type Check = (text: string) => boolean;

const UUID = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID3 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const UUID4 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const UUID5 = /^[0-9a-f]{8}-?[0-9a-f]{4}-?5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$/i;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$/;
const CARD =
  /^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\d{3})\d{11})$/;
const CHANNEL = '(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])';
const RGB = new RegExp(`^rgb\\(\\s*${CHANNEL}\\s*,\\s*${CHANNEL}\\s*,\\s*${CHANNEL}\\s*\\)$`);
const TIME = /^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$/;
const SHORT_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const LONG_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const HOST_LABEL = /^[a-zA-Z0-9\p{S}\p{L}]([a-zA-Z0-9-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?$/u;
const TOP_LABEL = /^[a-zA-Z\p{L}]{2,63}$/u;
const GO_DURATION = /^[-+]?(0|((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))+)$/;
const LONG_DURATION = /(\d+)\s*([A-Za-zµ]+)/g;
const DURATION_UNIT = /^(ns|nano.*|us|µs|micro.*|ms|milli.*|s|sec.*|m|min.*|h|hr|hour.*|d|day.*|w|wk|week.*)$/i;

function isDate(text: string): boolean {
  const parts = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (parts === null) return false;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  if (month < 1 || month > 12 || day < 1) return false;
  return day <= new Date(Date.UTC(2000 + (year % 400), month, 0)).getUTCDate();
}

function isDateTime(text: string): boolean {
  const [date, time] = text.toLowerCase().split('t');
  if (time === undefined || !isDate(date as string)) return false;
  const parts = TIME.exec(time);
  if (parts === null) return false;
  return Number(parts[1]) <= 23 && Number(parts[2]) <= 59 && Number(parts[3]) <= 59;
}

function isDuration(text: string): boolean {
  if (GO_DURATION.test(text)) return true;
  LONG_DURATION.lastIndex = 0;
  for (let m = LONG_DURATION.exec(text); m !== null; m = LONG_DURATION.exec(text)) {
    if (DURATION_UNIT.test(m[2] as string)) return true;
  }
  return false;
}

/** Leading zeros in IPv4 are tolerated, as Go before 1.17 did (ParseIPSloppy). */
function isIpv4(text: string): boolean {
  return isIPv4(text.replace(/(^|\.)0+(?=\d)/g, '$1')) || (isIPv6(text) && text.includes('.') && !text.includes('%'));
}

function isIpv6(text: string): boolean {
  return isIPv6(text) && !text.includes('%');
}

function isCidr(text: string): boolean {
  const slash = text.indexOf('/');
  if (slash < 0) return false;
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)];
  if (!/^\d{1,3}$/.test(bits)) return false;
  if (isIpv6(address)) return Number(bits) <= 128;
  return isIpv4(address) && Number(bits) <= 32;
}

function isMac(text: string): boolean {
  return (
    /^([0-9a-f]{2}([:-]))([0-9a-f]{2}\2){4}([0-9a-f]{2})((\2[0-9a-f]{2}){2}|(\2[0-9a-f]{2}){14})?$/i.test(text) ||
    /^([0-9a-f]{4}\.)([0-9a-f]{4}\.){1}[0-9a-f]{4}((\.[0-9a-f]{4})|(\.[0-9a-f]{4}){7})?$/i.test(text)
  );
}

function isHostname(text: string): boolean {
  if (Buffer.byteLength(text) > 255) return false;
  const labels = text.split('.');
  if (!labels.every((label) => Buffer.byteLength(label) <= 63 && HOST_LABEL.test(label))) return false;
  return labels.length === 1 || TOP_LABEL.test(labels.at(-1) as string);
}

function isUri(text: string): boolean {
  // url.ParseRequestURI: an absolute path or an absolute URI; no control characters, no bare fragment handling.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (text === '' || /[\x00-\x1f\x7f ]/.test(text.split('?')[0] as string)) return false;
  if (/%(?![0-9a-fA-F]{2})/.test(text)) return false;
  if (text.startsWith('/') || text === '*') return true;
  const scheme = /^([a-zA-Z][a-zA-Z0-9+.-]*):(.*)$/.exec(text);
  if (scheme === null) return false;
  const rest = scheme[2] as string;
  if (!rest.startsWith('//')) return true;
  const host = rest.slice(2).split(/[/?]/)[0] as string;
  const port = /:([^:\]]*)$/.exec(host.slice(host.lastIndexOf('@') + 1));
  return port === null || /^\d*$/.test(port[1] as string);
}

function isEmail(text: string): boolean {
  const bracketed = /^(?:"(?:[^"\\]|\\.)*"|[^<>@,;"]*)\s*<([^<>]+)>$/.exec(text.trim());
  const address = bracketed ? (bracketed[1] as string) : text.trim();
  return /^(?:[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*|"(?:[^"\\]|\\.)*")@(?:[^\s@<>()[\],;:\\".]+(?:\.[^\s@<>()[\],;:\\".]+)*|\[[^\]\s]+\])$/u.test(
    address,
  );
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '');
  if (!/^(?:[0-9]{9}X|[0-9]{10})$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 10; i++) sum += (i + 1) * (digits[i] === 'X' ? 10 : Number(digits[i]));
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, '');
  if (!/^[0-9]{13}$/.test(digits)) return false;
  let sum = 0;
  for (let i = 0; i < 12; i++) sum += (i % 2 === 0 ? 1 : 3) * Number(digits[i]);
  return Number(digits[12]) === (10 - (sum % 10)) % 10;
}

function isCreditCard(text: string): boolean {
  const digits = text.replace(/[^0-9]+/g, '');
  if (!CARD.test(digits)) return false;
  let sum = 0;
  for (let i = digits.length - 1, double = false; i >= 0; i--, double = !double) {
    const n = Number(digits[i]) * (double ? 2 : 1);
    sum += n >= 10 ? (n % 10) + 1 : n;
  }
  return sum % 10 === 0;
}

const checks: Record<string, Check> = {
  bsonobjectid: (t) => /^[0-9a-fA-F]{24}$/.test(t),
  uri: isUri,
  email: isEmail,
  hostname: isHostname,
  ipv4: isIpv4,
  ipv6: isIpv6,
  cidr: isCidr,
  mac: isMac,
  uuid: (t) => UUID.test(t),
  uuid3: (t) => UUID3.test(t),
  uuid4: (t) => UUID4.test(t),
  uuid5: (t) => UUID5.test(t),
  isbn: (t) => isIsbn10(t) || isIsbn13(t),
  isbn10: isIsbn10,
  isbn13: isIsbn13,
  creditcard: isCreditCard,
  ssn: (t) => /^\d{3}[- ]?\d{2}[- ]?\d{4}$/.test(t),
  hexcolor: (t) => /^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$/.test(t),
  rgbcolor: (t) => RGB.test(t),
  byte: (t) => BASE64.test(t),
  password: () => true,
  date: isDate,
  duration: isDuration,
  datetime: isDateTime,
  k8sshortname: (t) => t.length <= 63 && SHORT_NAME.test(t),
  k8slongname: (t) => t.length <= 253 && LONG_NAME.test(t),
};

const byName = new Map<string, Check | undefined>();

/** The check of a format, or undefined where the format is no constraint. Dashes in names do not count. */
export function formatCheck(name: string): Check | undefined {
  if (byName.has(name)) return byName.get(name);
  const normal = name.replaceAll('-', '');
  const check = Object.hasOwn(checks, normal) ? checks[normal] : undefined;
  if (byName.size < 1000) byName.set(name, check);
  return check;
}
