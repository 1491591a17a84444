// A small mail server: keeps what it takes, answers as a test says, speaks STARTTLS and AUTH.
//
//   const smtp = await openSmtp({ tls: 'none' | 'starttls' | 'smtps', user, password });
//   smtp.url('mail.localhost')                           // for --smtp; libcurl knows that *.localhost is this machine
//   smtp.mails                                           // [{ from, to, tls, user, text, headers, body, name }]
//   smtp.answer = (line) => '450 4.2.0 later';           // in place of its own answer; undefined: its own
//   smtp.drop = true                                     // takes the next mail, and the connection ends before it says so
//   smtp.hold = true                                     // takes a mail and does not say so, until smtp.release()
//
// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { after } from 'node:test';
import tls from 'node:tls';
import { freshDirectory } from './harness.mjs';

/** A certificate for *.localhost that signs itself. */
export function certificate() {
  const dir = freshDirectory();
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert,
    '-days', '2', '-subj', '/CN=mail.localhost', '-addext', 'subjectAltName=DNS:mail.localhost'], { stdio: 'ignore' });
  return { file: cert, key: readFileSync(key), cert: readFileSync(cert) };
}

/** The text of a header: encoded words are put together. */
const decoded = (text) => text.replace(/\?=\s+=\?/g, '?==?').replace(/(?:=\?UTF-8\?B\?[A-Za-z0-9+/=]*\?=)+/g,
  (words) => Buffer.concat([...words.matchAll(/\?B\?([^?]*)\?=/g)].map(([, word]) => Buffer.from(word, 'base64'))).toString());

function parsed(text) {
  const [head, ...rest] = text.split('\r\n\r\n');
  const headers = {};
  for (const line of head.replace(/\r\n[ \t]+/g, ' ').split('\r\n')) {
    const at = line.indexOf(':');
    const name = line.slice(0, at).toLowerCase();
    if (name in headers) throw new Error(`header ${name} twice`);
    headers[name] = decoded(line.slice(at + 1).trim());
  }
  return { text, head, headers, body: Buffer.from(rest.join(''), 'base64').toString() };
}

export async function openSmtp({ tls: kind = 'none', user, password, secure } = {}) {
  const smtp = { mails: [], commands: [], connections: 0, answer: () => undefined, hold: false, held: [] };
  const sockets = new Set();

  function serve(raw, isTls, greet) {
    const socket = raw;
    let text = Buffer.alloc(0);
    let mail = {};
    let inData = false;
    let who;
    let login; // steps of AUTH LOGIN
    sockets.add(raw);
    socket.on('close', () => sockets.delete(raw));
    socket.on('error', () => {});
    const say = (line) => { if (!socket.destroyed) socket.write(`${line}\r\n`); };
    const checked = (name, word) => {
      who = name === user && word === password ? name : undefined;
      say(who ? '235 welcome' : '535 5.7.8 no');
    };
    const own = {
      EHLO: () => say(['250-mail.localhost', ...(kind === 'starttls' && !isTls ? ['STARTTLS'] : []), ...(user ? ['AUTH PLAIN LOGIN'] : []), '8BITMIME']
        .map((line, i, all) => (i === 0 ? line : `250${i === all.length - 1 ? ' ' : '-'}${line}`)).join('\r\n')),
      MAIL: (line) => { mail = { from: /<(.*)>/.exec(line)[1] }; say('250 ok'); },
      RCPT: (line) => { mail.to = /<(.*)>/.exec(line)[1]; say('250 ok'); },
      DATA: () => { inData = true; say('354 go on'); },
      QUIT: () => { say('221 bye'); socket.end(); },
      RSET: () => say('250 ok'),
      AUTH: (line) => {
        const [, mechanism, initial] = line.split(' ');
        if (mechanism === 'PLAIN' && initial) return checked(...Buffer.from(initial, 'base64').toString().split('\0').slice(1));
        login = { mechanism };
        return say(mechanism === 'PLAIN' ? '334 ' : '334 VXNlcm5hbWU6');
      },
      STARTTLS: () => {
        say('220 go on');
        socket.removeAllListeners('data');
        serve(new tls.TLSSocket(socket, { isServer: true, key: secure.key, cert: secure.cert }), true, false);
      },
    };
    const take = (body) => {
      inData = false;
      const got = { ...mail, tls: isTls, user: who, ...parsed(body.replace(/\r\n\.\./g, '\r\n.')) };
      const said = smtp.answer('.') ?? '250 taken';
      if (said.startsWith('250')) smtp.mails.push(got);
      if (smtp.drop) {
        smtp.drop = false;
        socket.destroy();
      } else if (smtp.hold) smtp.held.push(() => say(said));
      else say(said);
    };
    const command = (line) => {
      smtp.commands.push(line);
      if (login && !login.name && login.mechanism === 'LOGIN') {
        login.name = Buffer.from(line, 'base64').toString();
        return say('334 UGFzc3dvcmQ6');
      }
      if (login) {
        const words = login.mechanism === 'PLAIN' ? Buffer.from(line, 'base64').toString().split('\0').slice(1) : [login.name, Buffer.from(line, 'base64').toString()];
        login = undefined;
        return checked(...words);
      }
      const said = smtp.answer(line);
      if (said) return say(said);
      const verb = line.split(' ')[0].toUpperCase();
      if (verb === 'MAIL' && user && !who) return say('530 5.7.0 log in');
      return own[verb] ? own[verb](line) : say('500 what');
    };
    socket.on('data', (chunk) => {
      text = Buffer.concat([text, chunk]);
      for (;;) {
        const end = text.indexOf(inData ? '\r\n.\r\n' : '\r\n');
        if (end < 0) return;
        const part = text.subarray(0, end).toString();
        text = text.subarray(end + (inData ? 5 : 2));
        if (inData) take(part);
        else command(part);
      }
    });
    if (greet) {
      smtp.connections += 1;
      say(smtp.answer('') ?? '220 mail.localhost');
    }
  }

  const server = kind === 'smtps' ? tls.createServer({ key: secure.key, cert: secure.cert }, (socket) => serve(socket, true, true))
    : net.createServer((socket) => serve(socket, false, true));
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  const { port } = server.address();
  smtp.url = (host = '127.0.0.1', who = '') => `${kind === 'smtps' ? 'smtps' : 'smtp'}://${who && `${encodeURIComponent(who)}@`}${host}:${port}`;
  smtp.release = () => {
    smtp.hold = false;
    for (const go of smtp.held.splice(0)) go();
  };
  /** What has come for an address. */
  smtp.to = (address) => smtp.mails.filter((mail) => mail.to === address);
  smtp.close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  after(smtp.close);
  return smtp;
}
