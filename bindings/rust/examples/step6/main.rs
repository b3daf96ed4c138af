// SPDX-License-Identifier: BSD-2-Clause
//! Step 6 of the tutorial in Rust: a server of many clients in one loop, of TCP (client of step 1) and of RDMA (client
//! of step 4) at once. Here the program is such a client, too.

#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod rdma;

use rdma::{Adapter, Connection, Event, LINE_SIZE};
use std::collections::HashMap;
use std::error::Error;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::io::AsRawFd;
use std::rc::Rc;

/// One line, and not an octet more: what follows may be no text. None at the end of the stream.
fn read_line(mut tcp: &TcpStream) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    let mut octet = [0];
    while line.len() < LINE_SIZE && tcp.read_exact(&mut octet).is_ok() {
        if octet[0] == b'\n' {
            return Some(line);
        }
        line.push(octet[0]);
    }
    None
}

struct Server {
    adapter: Rc<Adapter>,
    plain: Vec<TcpStream>,
    connections: HashMap<u64, Connection>,
    numbers: std::ops::RangeFrom<u64>,
}

impl Server {
    /// Serves a line of one client. It stays, or becomes RDMA, or has gone.
    fn serve_line(&mut self, mut tcp: TcpStream) -> rdma::Result<()> {
        match read_line(&tcp) {
            Some(line) if line == b"rdma" => {
                let number = self.numbers.next().unwrap();
                let mut connection = Connection::new(&self.adapter, number)?;
                connection.convert(tcp, b"go ahead\n")?;
                self.connections.insert(number, connection);
            }
            Some(line) if tcp.write_all(&[&line, &b"\n"[..]].concat()).is_ok() => self.plain.push(tcp),
            _ => {}
        }
        Ok(())
    }

    fn serve_events(&mut self) -> rdma::Result<()> {
        while let Some(event) = self.adapter.next()? {
            match event {
                Event::Received(number, length) => {
                    let connection = self.connections.get_mut(&number).unwrap();
                    let text = connection.take(length)?;
                    connection.send(&text)?;
                }
                Event::Ended(id) => self.connections.retain(|_, one| one.id() != id),
                _ => {}
            }
        }
        Ok(())
    }

    fn run(&mut self, listener: &TcpListener) -> Result<(), Box<dyn Error>> {
        loop {
            let mut fds = vec![listener.as_raw_fd(), self.adapter.fd()];
            fds.extend(self.plain.iter().map(|tcp| tcp.as_raw_fd()));
            let readable = rdma::readable(&fds);
            for (tcp, ready) in std::mem::take(&mut self.plain).into_iter().zip(&readable[2..]) {
                if *ready {
                    self.serve_line(tcp)?;
                } else {
                    self.plain.push(tcp);
                }
            }
            self.serve_events()?;
            if readable[0] {
                self.plain.extend(listener.accept().map(|(tcp, _)| tcp));
            }
        }
    }
}

fn ask(host: &str, port: u16, texts: &[String]) -> Result<(), Box<dyn Error>> {
    let adapter = Adapter::open(8)?;
    let mut connection = Connection::new(&adapter, 0)?;
    let mut tcp = TcpStream::connect((host, port))?;
    tcp.write_all(b"rdma\n")?;
    if read_line(&tcp).as_deref() != Some(b"go ahead") {
        return Err("the server does not want to".into());
    }
    connection.convert(tcp, b"")?;
    if adapter.wait()? != Event::Established {
        return Err("no connection".into());
    }
    for text in texts {
        connection.send(text.as_bytes())?;
        let length = match adapter.wait()? {
            Event::Received(_, length) => length,
            other => return Err(format!("the connection has ended: {other:?}").into()),
        };
        println!("echo by RDMA: {}", String::from_utf8_lossy(&connection.take(length)?));
    }
    connection.disconnect()?;
    while !matches!(adapter.wait()?, Event::Ended(_)) {}
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["server", ref port @ ..] if port.len() <= 1 => {
            let listener = TcpListener::bind(("0.0.0.0", port.first().map_or(Ok(0), |port| port.parse())?))?;
            println!("listening on port {}", listener.local_addr()?.port());
            let adapter = Adapter::open(256)?;
            Server { adapter, plain: Vec::new(), connections: HashMap::new(), numbers: 0.. }.run(&listener)
        }
        ["client", host, port, _, ..] => ask(host, port.parse()?, &arguments[3..]),
        _ => Err("usage: step6 server [PORT]\n       step6 client HOST PORT TEXT...".into()),
    }
}
