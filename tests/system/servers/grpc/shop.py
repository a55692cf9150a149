"""A gRPC server of tests/fixtures/grpc/shop.proto, built on the library in C.

Arguments: a directory with the modules that protoc made, and the one with the certificates.
It prints its three ports: plain, TLS, mutual TLS; then a line for each call that is cancelled.
"""
import sys
import threading
from concurrent import futures

modules, certificates = sys.argv[1:]
sys.path.insert(0, modules)

import grpc  # noqa: E402
import reflection_pb2  # noqa: E402
import shop_pb2  # noqa: E402
from google.protobuf import descriptor_pb2, descriptor_pool  # noqa: E402


class Shop:
    def GetItem(self, request, context):
        sent = dict(context.invocation_metadata())
        context.send_initial_metadata((("x-hint", sent.get("x-hint", "")),))
        context.set_trailing_metadata((("x-bytes-bin", b"\1\2\3"),))
        if request.id == "missing":
            context.abort(grpc.StatusCode.NOT_FOUND, 'there is no item "ü"')
        name = "x" * request.count if request.id == "large" else "Ann's"
        return shop_pb2.Item(id=request.id, name=name, kind=shop_pb2.BOOK, serial=2**53 + 1)

    def EchoItem(self, request, context):
        return request

    def ListItems(self, request, context):
        for number in range(request.count):
            yield shop_pb2.Item(id=str(number + 1))

    def AddItems(self, requests, context):
        return shop_pb2.Count(count=len(list(requests)))

    def Trade(self, requests, context):
        for request in requests:
            yield shop_pb2.Item(id=request.id + "!")

    def Wait(self, request, context):
        ended = threading.Event()
        context.add_callback(ended.set)
        print("waiting", flush=True)
        ended.wait(20)
        print("cancelled" if not context.is_active() else "given up", flush=True)
        return shop_pb2.Item()


class Reflection:
    def ServerReflectionInfo(self, requests, context):
        pool = descriptor_pool.Default()
        for request in requests:
            kind = request.WhichOneof("message_request")
            response = reflection_pb2.ServerReflectionResponse()
            try:
                if kind == "list_services":
                    response.list_services_response.service.add(name="shop.v1.Shop")
                else:
                    file = (
                        pool.FindFileByName(request.file_by_filename)
                        if kind == "file_by_filename"
                        else pool.FindFileContainingSymbol(request.file_containing_symbol)
                    )
                    files = response.file_descriptor_response
                    files.file_descriptor_proto.append(file.serialized_pb)
            except KeyError as error:
                response.error_response.error_code = 5
                response.error_response.error_message = str(error)
            yield response


def add(module, name, servicer):
    """Adds the methods of a service; its descriptor says which of them take streams."""
    service = module.DESCRIPTOR.services_by_name[name]
    file = descriptor_pb2.FileDescriptorProto()
    module.DESCRIPTOR.CopyToProto(file)
    methods = next(one for one in file.service if one.name == name).method
    handlers = {}
    for method in methods:
        kinds = (method.client_streaming, method.server_streaming)
        make = {
            (False, False): grpc.unary_unary_rpc_method_handler,
            (False, True): grpc.unary_stream_rpc_method_handler,
            (True, False): grpc.stream_unary_rpc_method_handler,
            (True, True): grpc.stream_stream_rpc_method_handler,
        }[kinds]
        request = getattr(module, method.input_type.split(".")[-1])
        handlers[method.name] = make(
            getattr(servicer, method.name),
            request_deserializer=request.FromString,
            response_serializer=lambda message: message.SerializeToString(),
        )
    generic = grpc.method_handlers_generic_handler(service.full_name, handlers)
    server.add_generic_rpc_handlers((generic,))


def read(name):
    with open(f"{certificates}/{name}", "rb") as file:
        return file.read()


server = grpc.server(
    futures.ThreadPoolExecutor(32),
    options=[("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)],
)
add(shop_pb2, "Shop", Shop())
add(reflection_pb2, "ServerReflection", Reflection())
pair = [(read("good_key.pem"), read("good.pem"))]
authority = read("authority.pem")
ports = [
    server.add_insecure_port("127.0.0.1:0"),
    server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials(pair)),
    server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials(pair, authority, True)),
]
server.start()
print(*ports, flush=True)
server.wait_for_termination()
