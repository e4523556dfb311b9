"""One end of an MPTCP connection: peer.py listen|abandon|finish ADDRESS

listen   answers at any address of ADDRESS's family, line by line, until the other end closes.
abandon  sends two lines, leaves the second answer unread, closes: MP_FASTCLOSE.
finish   sends two lines, reads both answers, closes: DATA_FIN.
"""

import socket
import sys
import time

PORT = 5000


def listen(address):
    server = mptcp(address)
    server.bind(("", PORT))
    server.listen()
    connection, _ = server.accept()
    try:
        while line := connection.recv(100):
            connection.sendall(line.upper())
    except ConnectionError:
        pass


def connect(address, read_all):
    connection = mptcp(address)
    connection.connect((address, PORT))
    connection.sendall(b"the first line\n")
    connection.recv(100)
    time.sleep(2)  # joins, priorities, addresses: see capture.sh
    connection.sendall(b"the second line\n")
    time.sleep(0.5)
    if read_all:
        connection.recv(100)
    connection.close()


def mptcp(address):
    return socket.socket(family(address), socket.SOCK_STREAM, socket.IPPROTO_MPTCP)


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


command, address = sys.argv[1:]
if command == "listen":
    listen(address)
else:
    connect(address, read_all=command == "finish")
